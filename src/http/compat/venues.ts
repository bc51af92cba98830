/** Names of venues at other services. A venue that is not listed keeps its own key. */

interface Names {
  /** `label` of Jupiter. */
  readonly jupiter: string
  /** `dexId` and `labels` of DexScreener. */
  readonly dexScreener: readonly [id: string, ...labels: ReadonlyArray<string>]
  /** Id of a dex at GeckoTerminal. */
  readonly geckoTerminal: string
}

const names: Readonly<Record<string, Names>> = {
  "raydium-amm-v4": { jupiter: "Raydium", dexScreener: ["raydium"], geckoTerminal: "raydium" },
  "raydium-cpmm": { jupiter: "Raydium CP", dexScreener: ["raydium", "CPMM"], geckoTerminal: "raydium" },
  "raydium-clmm": { jupiter: "Raydium CLMM", dexScreener: ["raydium", "CLMM"], geckoTerminal: "raydium-clmm" },
  pumpswap: { jupiter: "Pump.fun Amm", dexScreener: ["pumpswap"], geckoTerminal: "pumpswap" },
  "pump-fun-curve": { jupiter: "Pump.fun", dexScreener: ["pumpfun"], geckoTerminal: "pump-fun" },
  "orca-whirlpool": { jupiter: "Whirlpool", dexScreener: ["orca", "wp"], geckoTerminal: "orca" },
  "meteora-dlmm": { jupiter: "Meteora DLMM", dexScreener: ["meteora", "DLMM"], geckoTerminal: "meteora" },
  "meteora-damm-v2": { jupiter: "Meteora DAMM v2", dexScreener: ["meteora", "DYN2"], geckoTerminal: "meteora-damm-v2" },
  "meteora-dbc": { jupiter: "Dynamic Bonding Curve", dexScreener: ["meteoradbc"], geckoTerminal: "meteora-dbc" }
}

/** Labels of Jupiter for venues that the other services name by a key of their own, or not at all. */
const labels: Readonly<Record<string, string>> = {
  "meteora-damm-v1": "Meteora",
  "raydium-launchlab": "Raydium Launchlab",
  "pancakeswap-clmm": "PancakeSwap",
  "solfi-v2": "SolFi V2",
  byreal: "Byreal",
  goonfi: "GoonFi",
  humidifi: "HumidiFi",
  obric: "Obric V2",
  solfi: "SolFi",
  tessera: "TesseraV",
  zerofi: "ZeroFi"
}

/** The names of a venue by its key. */
export const namesOf = (dex: string): Names =>
  names[dex] ?? { jupiter: labels[dex] ?? dex, dexScreener: [dex], geckoTerminal: dex }

/** The key of a venue by its label at Jupiter; any other text as it is. */
export const venueOf = (label: string): string =>
  [...Object.keys(names), ...Object.keys(labels)].find((dex) => namesOf(dex).jupiter === label) ?? label
