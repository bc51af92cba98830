/**
 * AMMs without public source. Their swaps move tokens between the trader and two vaults, which is enough for a chart.
 * Their prices depend on parameters that only the operator knows, so they are never quoted. Sources of addresses,
 * tags and the pool's index: Dune's spellbook (dbt_subprojects/solana/models/_sector/dex), and LimeChain's magnus for
 * AlphaQ. SolFi, Obric and ZeroFi were compared with mainnet transactions.
 */
import { jupiterRfqSwaps } from "../jupiter/orderEngine.ts"
import type { SwapDecoder } from "../interface/SwapDecoder.ts"
import { type ChartedAmm, vaultSwaps } from "./vaultSwaps.ts"

const closed: ReadonlyArray<ChartedAmm> = [
  {
    dex: "humidifi",
    programId: "9H6tua7jkLhdm3w8BvgpTn5LZNU7g4ZynDmCiNN3q6Rp",
    tags: [],
    accounts: 9,
    pool: 1,
    vaults: [2, 3]
  },
  { dex: "solfi", programId: "SoLFiHG9TfgtdUXUjWAxi3LtvYuFyDLVhBWxdMZxyCe", tags: ["07"], pool: 1, vaults: [2, 3] },
  { dex: "solfi-v2", programId: "SV2EYYJyRz2YhfXwXnhNAevDEui5Q6yrfyo13WtupPF", tags: ["07", "0e"], pool: 1 },
  { dex: "tessera", programId: "TessVdML9pBGgG9yGks7o4HewRaXVAMuoVj4x83GLQH", tags: ["10", "11"], pool: 1 },
  { dex: "zerofi", programId: "ZERor4xhbUycZ6gb9ntrhqscUcZmAbQDjEAtCf4hbZY", tags: ["06", "10"], pool: 0 },
  { dex: "goonfi", programId: "goonERTdGsjnkZqWuVjs73BZ3Pb9qoCUdBUL17BnS5j", tags: ["02"], pool: 1 },
  { dex: "goonfi-v2", programId: "goonuddtQRrWqqn5nFyczVKaie28f3kDkHWkHtURSLE", tags: ["01"], pool: 1 },
  {
    dex: "bisonfi",
    programId: "BiSoNHVpsVZW2F7rx2eQ59yQwKxzU5NvBcmKshCSUypi",
    tags: ["02", "07"],
    accounts: 9,
    pool: 1
  },
  { dex: "alphaq", programId: "ALPHAQmeA7bjrVuccPsYPiCvsi428SNwte66Srvs4pHA", tags: ["0c"], pool: 1, vaults: [5, 6] },
  {
    dex: "obric",
    programId: "obriQD1zbpyLz95G5n7nJe6a4DPjpFwa5XYPoNm113y",
    tags: ["f8c69e91e17587c8", "414b3f4ceb5b5b88"],
    pool: 0
  }
]

/** Swap decoders of HumidiFi, SolFi, Tessera, ZeroFi, GoonFi, BisonFi, AlphaQ and Obric, and of Jupiter's RFQ. */
export const closedAmmSwaps: ReadonlyArray<SwapDecoder> = [...closed.map(vaultSwaps), jupiterRfqSwaps]
