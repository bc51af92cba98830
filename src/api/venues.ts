/** Venues by how well their prices are known, as the document lists them. */

/** Quoted exactly, to the last atomic unit. */
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

/** Charted by the movements of their vaults. Not quoted: their prices have not been proven against the programs. */
export const chartedVenues = ["pancakeswap-clmm", "byreal", "raydium-launchlab", "meteora-damm-v1", "manifest"] as const

/** Charted by the movements of their vaults, or of a maker's accounts. Never quoted: only their operators know the prices. */
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
  "obric",
  "jupiter-rfq"
] as const

/** The description of a parameter that names venues to quote from. */
export const venuesDescription = (what: string): string =>
  `${what}: 1 to 20 of ${quotableVenues.join(", ")}. Not quoted yet, with charts and trades: ${chartedVenues.join(", ")}. Never quoted, with charts and trades: ${closedVenues.join(", ")}. Pools of any other program are neither quoted nor charted.`
