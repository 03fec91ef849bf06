"""Pictures and tables of what goes into the studies: data sets, partitions, traces, probabilities."""
