"""The daemon's figures in the text format of Prometheus."""
