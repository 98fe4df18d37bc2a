/* Settings whose values are words. */
#ifndef PIPEGAUGE_SETTINGS_H
#define PIPEGAUGE_SETTINGS_H

#include <string.h>

/* Which of these words a text is: the evaluator has let no other pass. */
static inline int word_of(const char *const *words, const char *text)
{
    int which = 0;
    while (strcmp(words[which], text) != 0)
        which++;
    return which;
}

#endif
