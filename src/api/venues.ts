/** Venues by what is known of their prices, as the document lists them. */

/** Quoted to the unit. */
export const quotableVenues = [
  "raydium-amm-v4",
  "raydium-cpmm",
  "pumpswap",
  "pump-fun-curve",
  "raydium-clmm",
  "orca-whirlpool",
  "meteora-dlmm",
  "meteora-damm-v2",
  "meteora-dbc"
] as const

/** Charted by the movements of their vaults, not quoted: their prices have not been proven against the programs. */
export const chartedVenues = ["pancakeswap-clmm", "byreal", "raydium-launchlab", "meteora-damm-v1", "manifest"] as const

/** Charted by the movements of their vaults, never quoted: no source of them is public. */
export const closedVenues = [
  "humidifi",
  "solfi",
  "solfi-v2",
  "tessera",
  "zerofi",
  "goonfi",
  "goonfi-v2",
  "bisonfi",
  "alphaq",
  "obric"
] as const

/** Description of a parameter that names venues to quote from. */
export const venuesDescription = (what: string): string =>
  `${what}: 1 to 20 of ${quotableVenues.join(", ")}. Not quoted yet, with charts and trades: ${chartedVenues.join(", ")}. Never quoted, with charts and trades: ${closedVenues.join(", ")}. Pools of any other program are neither quoted nor charted.`
