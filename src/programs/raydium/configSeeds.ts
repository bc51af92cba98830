const CONFIG_SEED = new TextEncoder().encode("amm_config")

/** Seeds of a fee tier's address, in CPMM and CLMM alike. The index is two bytes, big-endian. */
export const configSeeds = (index: number): ReadonlyArray<Uint8Array> => [
  CONFIG_SEED,
  Uint8Array.of(index >> 8, index & 0xff)
]
