import { useRoute } from "preact-iso"
import { useState } from "preact/hooks"
import { isMissing } from "../data/request.ts"
import { type Read, useRead } from "../data/useRead.ts"
import { NotFound } from "../frame/NotFound.tsx"
import { FindToken } from "../market/FindToken.tsx"
import { symbolOf } from "../market/TokenName.tsx"
import { Loading } from "../parts/States.tsx"
import { useTitle } from "../parts/useTitle.ts"
import { isolated, shortAddress } from "../parts/words.ts"
import "../style/market.css"
import { Candles } from "./Candles.tsx"
import { type Counterpart, SOL, USDC } from "./counterpart.ts"
import { ExitLadder } from "./ExitLadder.tsx"
import { FACTS_EVERY_MS, type FactsAnswer, TokenFacts } from "./TokenFacts.tsx"
import { HoldersOf } from "./Holders.tsx"
import { Pools } from "./Pools.tsx"
import { QuoteBox } from "./QuoteBox.tsx"
import { Risk } from "./Risk.tsx"
import { Trades } from "./Trades.tsx"
import { TopTraders } from "./Traders.tsx"
import { usePools } from "./usePools.ts"
import { Windows } from "./Windows.tsx"

/** The token as one side of a trade; null until its decimals are known. */
const sideOf = (answer: FactsAnswer | null): Counterpart | null => {
  const token = answer?.data.token
  return token?.decimals === undefined || token.decimals === null
    ? null
    : { mint: token.address, symbol: symbolOf(token), decimals: token.decimals }
}

const Trading = ({ read }: { readonly read: Read<FactsAnswer> }) => {
  const token = sideOf(read.answer)
  if (token === null) {
    return (
      <section class="card">
        <h2>Quote</h2>
        {read.isLoading ? (
          <Loading what="the token" rows={8} />
        ) : (
          <p class="soft">Amounts cannot be typed until the decimals of the token are known.</p>
        )}
      </section>
    )
  }
  const counter = token.mint === SOL.mint ? USDC : SOL
  return (
    <div class="stack">
      <QuoteBox key={`quote ${token.mint}`} token={token} counter={counter} />
      <ExitLadder key={`exit ${token.mint}`} token={token} counter={counter} />
    </div>
  )
}

/** One token: candles, facts, pools, traders, holders, risk signals, and quotes. */
export const Token = () => {
  const { params } = useRoute()
  const mint = params["mint"] ?? ""
  const facts = useRead(
    "GET /api/v1/tokens/:chain/:address",
    { path: { chain: "solana", address: mint } },
    FACTS_EVERY_MS
  )
  const pools = usePools(mint)
  const [chosen, setChosen] = useState({ mint, pool: "" })
  // The router keeps this component when the address changes from one token to another.
  const pool = chosen.mint === mint ? chosen.pool : ""
  const setPool = (next: string) => setChosen({ mint, pool: next })
  const token = facts.answer?.data.token ?? null
  const title = token === null ? shortAddress(mint) : symbolOf(token)
  useTitle(isolated(title))
  if (facts.failure !== null && isMissing(facts.failure)) {
    return <NotFound />
  }
  return (
    <>
      <div class="row spread head">
        <h1>
          <bdi>{title}</bdi> {token !== null && token.name !== null && <bdi class="soft full-name">{token.name}</bdi>}
        </h1>
        <FindToken />
      </div>
      <div class="token-board">
        <div class="stack">
          <Candles mint={mint} pools={pools.answer?.data.pools ?? []} pool={pool} onPool={setPool} />
          <TokenFacts read={facts} />
          <Windows mint={mint} />
        </div>
        <Trading read={facts} />
        <Trades mint={mint} pool={pool} />
        <Pools read={pools} />
        <div class="wide pair">
          <div class="stack">
            <TopTraders mint={mint} />
            <Risk mint={mint} />
          </div>
          <HoldersOf mint={mint} />
        </div>
      </div>
    </>
  )
}
