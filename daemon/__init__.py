"""The process: composition root, gateway, storage, configuration, doctor, command line."""
