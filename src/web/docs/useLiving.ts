/** Mints and wallets that trade right now, as first values of forms. */
import { useEffect, useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { useSession } from "../data/session.tsx"
import { type Living, PLAIN, SOL } from "./sample.ts"

const MOST = 3

const readLiving = async (): Promise<Living> => {
  const { data } = await call("GET /api/v1/market/movement", {
    query: { window: "24h", rank: "volume", limit: 2 * MOST }
  })
  // Samples pay with SOL, so SOL cannot be what they buy.
  const mints = data.flatMap(({ token }) => (token.address === SOL ? [] : [token.address])).slice(0, MOST)
  const [first] = mints
  if (first === undefined) {
    return { ...PLAIN, nowMs: Date.now() }
  }
  const traders = await call("GET /api/v1/tokens/:chain/:address/top-traders", {
    path: { chain: "solana", address: first },
    query: { limit: MOST }
  }).catch(() => null)
  const wallets = traders?.data.map(({ wallet }) => wallet) ?? []
  return { mints, wallets: wallets.length === 0 ? PLAIN.wallets : wallets, named: {}, nowMs: Date.now() }
}

let reading: Promise<Living> | null = null

/**
 * Reads living values once for all pages. Falls back to values that work at every service when the market cannot be
 * read.
 */
const living = (): Promise<Living> => {
  reading ??= readLiving().catch(() => {
    reading = null
    return { ...PLAIN, nowMs: Date.now() }
  })
  return reading
}

type Named = Living["named"]

const idOf = (rows: ReadonlyArray<{ readonly id: string }>): Named => (rows[0] === undefined ? {} : { id: rows[0].id })

/** Readers of values that one group of operations needs, such as the id of something the account has. */
const readers: Readonly<Record<string, () => Promise<Named>>> = {
  alerts: async () => idOf((await call("GET /api/v1/alerts", { query: { limit: 1 } })).data),
  copying: async () => idOf((await call("GET /api/v1/copy/follows", { query: { limit: 1 } })).data),
  routing: async () => {
    const [trade] = (await call("GET /api/v1/tracker/trades", { query: { limit: 1 } })).trades
    return trade === undefined ? {} : { id: trade.signature }
  },
  accountFunding: async () => {
    const [wallets, catalog] = await Promise.all([
      call("GET /api/v1/account/wallets"),
      call("GET /api/v1/account/funding-catalog", { query: { limit: 1 } })
    ])
    const entry = catalog.data[0]
    const wallet = wallets.data.find(({ family, verified }) => verified && family === entry?.network.family)
    return {
      ...(wallet === undefined ? {} : { wallet: wallet.address }),
      ...(entry === undefined ? {} : { network: entry.network.id, asset: entry.assets[0]?.id ?? "" })
    }
  }
}

const namedOf = async (group: string): Promise<Named> => {
  try {
    return (await readers[group]?.()) ?? {}
  } catch {
    return {}
  }
}

/**
 * Living values for the operations of a group; null while they are read. Without a session, values that work at every
 * service.
 */
export const useLiving = (group: string): Living | null => {
  const { state } = useSession()
  const [values, setValues] = useState<{ readonly group: string; readonly living: Living } | null>(null)
  useEffect(() => {
    let isShown = true
    if (state === "in") {
      void Promise.all([living(), namedOf(group)]).then(
        ([read, named]) => isShown && setValues({ group, living: { ...read, named } })
      )
    }
    return () => {
      isShown = false
    }
  }, [group, state])
  if (state !== "in") {
    return PLAIN
  }
  return values?.group === group ? values.living : null
}
