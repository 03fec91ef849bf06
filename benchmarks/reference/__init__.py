"""What outagefl is measured against: the same algorithms in the usual style of research code.

A network, an optimiser and a DataLoader per client, images transformed one by one, models passed on as copies of their
state_dict, aggregation key by key. Nothing here is slower than such code is; nothing is made faster either.
"""
