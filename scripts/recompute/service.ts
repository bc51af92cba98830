/** The reads of a service that are compared, in the form in which it writes them. */
import type { RankedWindow } from "./traders.ts"
import type { WireScalar } from "./differences.ts"
import type { WindowName } from "./windows.ts"

/** A candle. */
export interface WireBar {
  readonly t: number
  readonly o: number
  readonly h: number
  readonly l: number
  readonly c: number
  readonly v: number
  readonly n: number | null
  readonly buys: number | null
  readonly buyVolume: number | null
  readonly traders: number | null
  readonly isWhole: boolean | null
}

/** A row of a ranking of tokens. */
export interface WireMovement {
  readonly token: { readonly address: string }
  readonly priceUsd: WireScalar
  readonly changePct: WireScalar
  readonly changeSince: string
  readonly volumeUsd: WireScalar
  readonly trades: WireScalar
  readonly traders: WireScalar
}

/** Totals of the market. */
export interface WireOverview {
  readonly activity: Readonly<
    Record<"buyVolumeUsd" | "buys" | "sellVolumeUsd" | "sells" | "traders" | "trades" | "volumeUsd", WireScalar>
  >
  readonly change: Readonly<Record<"tradesChangePct" | "volumeChangePct", WireScalar>>
  readonly launches: Readonly<Record<"migrations" | "tokensCreated", WireScalar>>
  readonly breadth: Readonly<Record<"advancing" | "declining" | "unchanged", WireScalar>>
}

interface WireCount {
  readonly total: number | null
}

/** One market in its windows. */
export interface WireMarket {
  readonly key: string
  readonly stats: Readonly<
    Record<
      WindowName,
      {
        readonly trades: { readonly total: number | null; readonly buys: number | null; readonly sells: number | null }
        readonly volumeUsd: { readonly total: number | null; readonly buys: number | null }
        readonly traders: WireCount
        readonly tokensCreated: WireCount
        readonly migrations: WireCount
      }
    >
  >
}

/** A wallet of a ranking. */
export interface WireTrader {
  readonly wallet: string
  readonly boughtTokens: string | null
  readonly soldTokens: string | null
  readonly boughtUsd: string | null
  readonly soldUsd: string | null
  readonly buys: number
  readonly sells: number
  readonly lastTradeAtMs: number
  readonly realizedPnl: { readonly value: { readonly usd: string | null; readonly native: string | null } }
}

/** What a ranking of wallets over all tokens goes by. */
export type LeaderSort = "realized" | "trades" | "volume"

/** A wallet of the ranking over all tokens. */
export interface WireLeader {
  readonly wallet: string
  readonly buys: number
  readonly sells: number
  readonly tokens: number
  readonly knownVolumeUsd: string
  readonly lastTradeAtMs: number
  readonly realized: {
    readonly knownUsd: string | null
    readonly costUsd: string | null
    readonly roiPct: string | null
    readonly knownSharePct: string | null
    readonly knownTokens: number
    readonly unknownTokens: number
    readonly wins: number
  }
}

/** The first hundred wallets over all tokens, and how many wallets there are. */
export interface WireLeaders {
  readonly rows: ReadonlyArray<WireLeader>
  readonly wallets: number
  /** The slot that the answer shows, which may be seconds old; null when a block came while the wallets were summed up. */
  readonly slot: number | null
}

/** A pool of a token. */
export interface WirePool {
  readonly pool: string
  readonly quoteMint: string
  readonly baseReserve: bigint | string | null
  readonly quoteReserve: bigint | string | null
  readonly liquidityUsd: string | null
  readonly volume24hUsd: WireScalar
}

/** Holders of a token. */
export interface WireHolders {
  readonly state: string
  readonly slot: number | null
  readonly holders: WireScalar & { readonly coverage: { readonly complete: boolean } }
  readonly heldAmount: bigint | string | null
  readonly top10Pct: WireScalar
  readonly top50Pct: WireScalar
  readonly excludedPct: WireScalar
  readonly top: ReadonlyArray<{
    readonly owner: string
    readonly amount: bigint | string
    readonly kind: string
  }> | null
}

/** Holders of a token at one time in an hour. */
export interface WireHolderHour {
  readonly hourMs: number
  readonly atMs: number
  readonly slot: number
  readonly holders: number
  readonly heldAmount: bigint | string
  readonly top10Pct: string | null
  readonly top50Pct: string | null
  readonly excludedPct: string | null
  readonly poolsKnown: boolean
}

/** Liquidity that was added to a pool or taken from it. */
export interface WireLiquidityEvent {
  readonly signature: string
  readonly slot: number
  readonly pool: string
  readonly kind: "added" | "removed"
  readonly amounts: ReadonlyArray<{ readonly mint: string; readonly amount: bigint | string }>
}

/** Selects bars of a token. Bounds are Unix seconds. */
export interface BarsQuery {
  readonly resolution: string
  readonly denom: "sol" | "usd"
  readonly pool?: string
  readonly from: number
  readonly to: number
}

/** Candles of market values, and the supply now that they were made with. */
export interface WireMarketValues {
  readonly bars: ReadonlyArray<Pick<WireBar, "c" | "t">>
  readonly supply: { readonly applied: string; readonly value: string | null } | null
}

/** Body of a screen of tokens. */
export interface ScreenQuery {
  readonly ranges: ReadonlyArray<{ readonly statistic: string; readonly min: string }>
  readonly sort: { readonly statistic: string; readonly direction: string }
  readonly show: ReadonlyArray<string>
}

export interface WireScreened {
  readonly token: { readonly address: string }
  readonly values: Readonly<Record<string, WireScalar>>
}

/** A running service, or one in the same process. */
export interface Service {
  /** The newest slot that its answers show: no older than at the time of the call. */
  newestSlot(): Promise<number>
  bars(mint: string, query: BarsQuery): Promise<ReadonlyArray<WireBar>>
  marketValues(mint: string, query: BarsQuery): Promise<WireMarketValues>
  movement(window: WindowName, rank: string): Promise<ReadonlyArray<WireMovement>>
  screen(query: ScreenQuery): Promise<ReadonlyArray<WireScreened>>
  overview(window: WindowName): Promise<WireOverview>
  lighthouse(): Promise<ReadonlyArray<WireMarket>>
  topTraders(mint: string, window: RankedWindow): Promise<ReadonlyArray<WireTrader>>
  /** One sum of all wallets serves every order of a window for two seconds or more. */
  leaders(window: RankedWindow, sort: LeaderSort): Promise<WireLeaders>
  liquidity(mint: string): Promise<ReadonlyArray<WirePool>>
  /** Every liquidity event of a token since a second. */
  liquidityEvents(mint: string, from: number): Promise<ReadonlyArray<WireLiquidityEvent>>
  /** The hundred largest holders, and the figures of all. */
  holders(mint: string): Promise<WireHolders>
  /** The newest hundred hours of the holders of a token. */
  holderHistory(mint: string): Promise<ReadonlyArray<WireHolderHour>>
  /** Dollars of a whole token, by mint. */
  prices(mints: ReadonlyArray<string>): Promise<ReadonlyMap<string, string | null>>
}

/** Attempts of a read that the service has no answer to yet, or none for so many callers. */
const TRIES = 10

/** Milliseconds for which the service may repeat its newest slot. */
const REPEATED_MS = 120

interface WireSource {
  readonly source: string
  readonly slot?: number
}

/** A service over HTTP, with a key that may read the market. */
export const httpService = (api: string, key: string): Service => {
  const ask = async (path: string, body?: unknown, tries = TRIES): Promise<Record<string, unknown>> => {
    const response = await fetch(`${api}/api/v1/${path}`, {
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
    })
    const isBusy = response.status === 429 || response.status === 503
    if (isBusy && tries > 0) {
      const seconds = Number(response.headers.get("retry-after") ?? 1)
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
      return ask(path, body, tries - 1)
    }
    if (!response.ok) {
      throw new Error(`${path}: ${response.status} ${await response.text()}`)
    }
    return (await response.json()) as Record<string, unknown>
  }
  const dataOf = async (path: string, body?: unknown) => (await ask(path, body))["data"]
  const pages = async (path: string): Promise<ReadonlyArray<unknown>> => {
    const rows: Array<unknown> = []
    for (let cursor: unknown = null; ;) {
      const page = await ask(typeof cursor === "string" ? `${path}&cursor=${encodeURIComponent(cursor)}` : path)
      rows.push(...(page["data"] as ReadonlyArray<unknown>))
      cursor = page["nextCursor"] ?? (page["pagination"] as { nextCursor?: unknown } | undefined)?.nextCursor
      if (typeof cursor !== "string") {
        return rows
      }
    }
  }
  return {
    newestSlot: async () => {
      await new Promise((resolve) => setTimeout(resolve, REPEATED_MS))
      const sources = (await dataOf("freshness")) as ReadonlyArray<WireSource>
      return sources.find(({ source }) => source === "blocks")?.slot ?? 0
    },
    bars: async (mint, { denom, from, pool, resolution, to }) => {
      const query = `resolution=${resolution}&denom=${denom}&from=${from}&to=${to}&limit=1500`
      const data = await dataOf(`market/chart/${mint}?${query}${pool === undefined ? "" : `&pool=${pool}`}`)
      return (data as { bars: ReadonlyArray<WireBar> }).bars
    },
    marketValues: async (mint, { denom, from, resolution, to }) => {
      const query = `resolution=${resolution}&denom=${denom}&from=${from}&to=${to}&limit=1500&mode=mcap`
      const { data, meta } = (await ask(`market/chart/${mint}?${query}`)) as {
        data: Pick<WireMarketValues, "bars">
        meta: Pick<WireMarketValues, "supply">
      }
      return { bars: data.bars, supply: meta.supply }
    },
    movement: async (window, rank) =>
      (await pages(
        `market/movement?window=${window}&rank=${rank}&minLiquidityUsd=0&minVolumeUsd=0&limit=100`
      )) as ReadonlyArray<WireMovement>,
    screen: async (query) => {
      const rows: Array<unknown> = []
      for (let cursor: unknown = null; ;) {
        const page = await ask("tokens/screen", {
          ...query,
          limit: 100,
          ...(typeof cursor === "string" && { cursor })
        })
        rows.push(...(page["data"] as ReadonlyArray<unknown>))
        cursor = page["nextCursor"]
        if (typeof cursor !== "string") {
          return rows as ReadonlyArray<WireScreened>
        }
      }
    },
    overview: async (window) => (await dataOf(`market/overview?window=${window}`)) as WireOverview,
    lighthouse: async () => ((await dataOf("market/lighthouse")) as { markets: ReadonlyArray<WireMarket> }).markets,
    topTraders: async (mint, window) =>
      (await pages(`tokens/solana/${mint}/top-traders?window=${window}&limit=100`)) as ReadonlyArray<WireTrader>,
    leaders: async (window, sort) => {
      const { data, meta } = await ask(`wallets/leaders?window=${window}&sort=${sort}&minKnownPct=0&limit=100`)
      const { slot, wallets } = meta as Pick<WireLeaders, "slot" | "wallets">
      return { rows: data as ReadonlyArray<WireLeader>, wallets, slot }
    },
    liquidity: async (mint) =>
      ((await dataOf(`tokens/solana/${mint}/liquidity?limit=50`)) as { pools: ReadonlyArray<WirePool> }).pools,
    liquidityEvents: async (mint, from) =>
      (await pages(
        `tokens/solana/${mint}/liquidity-events?from=${from}&limit=200`
      )) as ReadonlyArray<WireLiquidityEvent>,
    holders: async (mint) => (await dataOf(`tokens/solana/${mint}/holders?limit=100`)) as WireHolders,
    holderHistory: async (mint) =>
      (await dataOf(`tokens/solana/${mint}/holders/history?limit=100`)) as ReadonlyArray<WireHolderHour>,
    prices: async (mints) => {
      const rows = (await dataOf("prices", { mints })) as ReadonlyArray<{ mint: string; priceUsd: WireScalar }>
      return new Map(rows.map(({ mint, priceUsd }) => [mint, priceUsd.value]))
    }
  }
}
