"""The wire contract, version 1, and the clients that speak it (`recalld.protocol.client`)."""
