/** What the market page shows: window, tab, order, limits and columns, all of them in the address. */
import { useAddress } from "../data/useAddress.ts"
import type { Sorting } from "../parts/sorting.ts"
import { columnNames, usualColumns } from "./columns.tsx"
import { type Span, spans } from "./windows.ts"

export type Tab = "tokens" | "launches" | "watchlists" | "wallets" | "map" | "venues"

export const tabs: ReadonlyArray<readonly [Tab, string]> = [
  ["tokens", "Tokens"],
  ["launches", "Launches"],
  ["watchlists", "Watchlists"],
  ["wallets", "Wallets"],
  ["map", "Heat map"],
  ["venues", "Venues"]
]

/** Least liquidity and volume that can be chosen, in dollars. */
export const limits = [
  ["1000", "$1K"],
  ["0", "Any"],
  ["10000", "$10K"],
  ["100000", "$100K"],
  ["1000000", "$1M"]
] as const
export const volumes = [
  ["0", "Any"],
  ["1000", "$1K"],
  ["10000", "$10K"],
  ["100000", "$100K"]
] as const

/** Least number of holders, and greatest age in milliseconds, that can be chosen. */
export const holderLimits = [
  ["0", "Any"],
  ["50", "50"],
  ["200", "200"],
  ["1000", "1K"]
] as const
export const ages = [
  ["0", "Any"],
  ["3600000", "1 h"],
  ["21600000", "6 h"],
  ["86400000", "1 d"],
  ["604800000", "7 d"]
] as const

/** Where the columns that a reader chose last are kept, for addresses that name none. */
const COLUMNS_KEY = "fathom-market-columns"
const SEPARATOR = "."

const storedColumns = (): string | null => {
  try {
    return localStorage.getItem(COLUMNS_KEY)
  } catch {
    return null
  }
}

const columnsIn = (text: string | null): ReadonlySet<string> | null =>
  text === null ? null : new Set(text.split(SEPARATOR).filter((key) => columnNames.some(([each]) => each === key)))

const usualText = Array.from(usualColumns).join(SEPARATOR)

/** The value for the address: empty for the default, so that the address stays short. */
const unless = (usual: string, value: string): string => (value === usual ? "" : value)

export const useMarketState = () => {
  const { query, set } = useAddress()
  const pick = <Value extends string>(name: string, allowed: ReadonlyArray<readonly [Value, string]>, usual: Value) =>
    allowed.find(([value]) => value === query[name])?.[0] ?? usual
  const span: Span = pick("window", spans, "1h")
  const sorting: Sorting = {
    key: columnNames.some(([key]) => key === query["sort"]) ? (query["sort"] ?? "volume") : "volume",
    isDown: query["order"] !== "up"
  }
  return {
    span,
    tab: pick("tab", tabs, "tokens"),
    sorting,
    minLiquidityUsd: pick("liquidity", limits, "1000"),
    minVolumeUsd: pick("volume", volumes, "0"),
    minHolders: pick("holders", holderLimits, "0"),
    maxAgeMs: pick("age", ages, "0"),
    columns: columnsIn(query["columns"] ?? null) ?? columnsIn(storedColumns()) ?? usualColumns,
    list: query["list"] ?? "",
    setSpan: (next: Span) => set({ window: unless("1h", next) }),
    setTab: (next: Tab) => set({ tab: unless("tokens", next) }),
    setSorting: ({ isDown, key }: Sorting) => set({ sort: unless("volume", key), order: isDown ? "" : "up" }),
    setMinLiquidity: (next: string) => set({ liquidity: unless("1000", next) }),
    setMinVolume: (next: string) => set({ volume: unless("0", next) }),
    setMinHolders: (next: string) => set({ holders: unless("0", next) }),
    setMaxAge: (next: string) => set({ age: unless("0", next) }),
    setList: (next: string) => set({ list: next }),
    setColumns: (next: ReadonlySet<string>) => {
      const text = Array.from(next).join(SEPARATOR)
      try {
        localStorage.setItem(COLUMNS_KEY, text)
      } catch {
        // A browser that stores nothing keeps the columns in the address only.
      }
      set({ columns: unless(usualText, text) })
    }
  }
}

export type MarketState = ReturnType<typeof useMarketState>
