const CONFIG_SEED = new TextEncoder().encode("amm_config")

/** Seeds of a fee tier's account, the same in CPMM and CLMM. The index has two bytes, the higher first. */
export const configSeeds = (index: number): ReadonlyArray<Uint8Array> => [
  CONFIG_SEED,
  Uint8Array.of(index >> 8, index & 0xff)
]
