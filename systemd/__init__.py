"""Units, sysusers, tmpfiles and install notes."""
