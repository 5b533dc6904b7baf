package sim

// fallbackBytes stands for the memory of a machine that does not tell.
const fallbackBytes = 8 << 30
