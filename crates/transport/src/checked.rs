//! Settings held against the options of a transport: reading them, and whether they can be.

use crate::OptionSpec;
use crate::settings::{Settings, Value};

impl Settings {
    /// Reads `option=value` and sets it, as one of `specs`; a text that may stand more than once is added.
    pub fn read(&mut self, specs: &[OptionSpec], option: &str, text: &str) -> Result<(), SettingError> {
        let spec = specs.iter().find(|s| s.name == option).ok_or_else(|| unknown(specs, option))?;
        let value = spec.form.read(text).map_err(|why| SettingError::Bad {
            option: option.to_owned(),
            value: units::received::clean(text, 100),
            why,
        })?;
        match (self.get_mut(option), value) {
            (Some(Value::Many(all)), Value::Many(more)) => all.extend(more),
            (Some(_), _) => return Err(SettingError::Twice(option.to_owned())),
            (None, value) => self.set(option, value),
        }
        Ok(())
    }

    /// What differs from the defaults of these options.
    #[must_use]
    pub fn beyond_defaults(&self, specs: &[OptionSpec]) -> Self {
        let plain = |option: &str, value: &Value| {
            specs.iter().any(|s| s.name == option && s.form.read(s.default).as_ref() == Ok(value))
        };
        let others = self.iter().filter(|(option, value)| !plain(option, value));
        others.fold(Self::new(), |all, (option, value)| all.with(option, value.clone()))
    }

    /// Whether each value is of an option of `specs` and within its bounds: for settings that came from elsewhere.
    pub fn check(&self, specs: &[OptionSpec]) -> Result<(), SettingError> {
        for (option, value) in self.iter() {
            let spec = specs.iter().find(|s| s.name == option).ok_or_else(|| unknown(specs, option))?;
            spec.form.check(value).map_err(|why| SettingError::Bad {
                option: option.to_owned(),
                value: units::received::clean(&value.to_string(), 100),
                why,
            })?;
        }
        Ok(())
    }
}

#[cold]
fn unknown(specs: &[OptionSpec], option: &str) -> SettingError {
    let names: Vec<&str> = specs.iter().map(|s| s.name).collect();
    SettingError::Unknown {
        option: units::received::clean(option, 40),
        known: if names.is_empty() { "it has none".to_owned() } else { format!("there are: {}", names.join(", ")) },
    }
}

/// What is wrong with an option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The transport has no such option.
    #[error("no option is named '{option}'; {known}")]
    Unknown {
        /// As it was written.
        option: String,
        /// Those that there are.
        known: String,
    },
    /// The value can't be read or is out of bounds.
    #[error("{option}={value}: {why}")]
    Bad {
        /// The option.
        option: String,
        /// As it was written.
        value: String,
        /// What is wrong, and what fits.
        why: String,
    },
    /// It stands twice.
    #[error("'{0}' is given twice; give it once")]
    Twice(String),
}
