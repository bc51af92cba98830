/** 5,000 trades of the token by 20 wallets, the same in every process. */
import { openMarket } from "../tapeMarket.ts"
import { TOKEN } from "../warmPools.ts"

const market = openMarket({ seed: 7, tokens: 1, wallets: 20, habits: 1, skew: 1, pace: 10 })

export const trades = market(5000).map((trade) => ({ ...trade, mint: TOKEN }))

/** The wallets of the trades. */
export const wallets = Array.from(new Set(trades.map(({ wallet }) => wallet)))
