//! Two or more hosts: meeting, authentication, launch, control messages.
