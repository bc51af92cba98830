/** What the market page shows: window, tab, order, limits and columns, all of them in the address. */
import { useAddress } from "../data/useAddress.ts"
import type { Sorting } from "../parts/sorting.ts"
import { columnNames } from "./columns.tsx"
import { type Span, spans } from "./windows.ts"

export type Tab = "tokens" | "launches" | "watchlists" | "map" | "venues"

export const tabs: ReadonlyArray<readonly [Tab, string]> = [
  ["tokens", "Tokens"],
  ["launches", "Launches"],
  ["watchlists", "Watchlists"],
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

const everyColumn: ReadonlySet<string> = new Set(columnNames.map(([key]) => key))

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
    columns: columnsIn(query["columns"] ?? null) ?? columnsIn(storedColumns()) ?? everyColumn,
    list: query["list"] ?? "",
    setSpan: (next: Span) => set({ window: unless("1h", next) }),
    setTab: (next: Tab) => set({ tab: unless("tokens", next) }),
    setSorting: ({ isDown, key }: Sorting) => set({ sort: unless("volume", key), order: isDown ? "" : "up" }),
    setMinLiquidity: (next: string) => set({ liquidity: unless("1000", next) }),
    setMinVolume: (next: string) => set({ volume: unless("0", next) }),
    setList: (next: string) => set({ list: next }),
    setColumns: (next: ReadonlySet<string>) => {
      const text = Array.from(next).join(SEPARATOR)
      try {
        localStorage.setItem(COLUMNS_KEY, text)
      } catch {
        // A browser that stores nothing keeps the columns in the address only.
      }
      set({ columns: next.size === everyColumn.size ? "" : text })
    }
  }
}

export type MarketState = ReturnType<typeof useMarketState>
