/** Mints and wallets that trade right now, for the first values of forms. */
import { useEffect, useState } from "preact/hooks"
import { call } from "../data/request.ts"
import { useSession } from "../data/session.tsx"
import { type Living, PLAIN } from "./sample.ts"

const MOST = 3

const readLiving = async (): Promise<Living> => {
  const { data } = await call("GET /api/v1/market/movement", { query: { window: "24h", rank: "volume", limit: MOST } })
  const mints = data.map(({ token }) => token.address)
  const [first] = mints
  if (first === undefined) {
    return { ...PLAIN, nowMs: Date.now() }
  }
  const traders = await call("GET /api/v1/tokens/:chain/:address/top-traders", {
    path: { chain: "solana", address: first },
    query: { limit: MOST }
  }).catch(() => null)
  const wallets = traders?.data.map(({ wallet }) => wallet) ?? []
  return { mints, wallets: wallets.length === 0 ? PLAIN.wallets : wallets, nowMs: Date.now() }
}

let reading: Promise<Living> | null = null

/** Reads living values once for all pages; those of every service where the market cannot be read. */
const living = (): Promise<Living> => {
  reading ??= readLiving().catch(() => {
    reading = null
    return { ...PLAIN, nowMs: Date.now() }
  })
  return reading
}

/** Living values with a session, values that are right at every service without one; null while they are read. */
export const useLiving = (): Living | null => {
  const { state } = useSession()
  const [values, setValues] = useState<Living | null>(state === "in" ? null : PLAIN)
  useEffect(() => {
    let isShown = true
    if (state === "in") {
      void living().then((read) => isShown && setValues(read))
    }
    return () => {
      isShown = false
    }
  }, [state])
  return values
}
