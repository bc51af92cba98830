import { useRoute } from "preact-iso"
import { useRef, useState } from "preact/hooks"
import { isMissing } from "../data/request.ts"
import { type Read, useRead } from "../data/useRead.ts"
import { NotFound } from "../frame/NotFound.tsx"
import { symbolOf } from "../market/TokenName.tsx"
import { InPlace, Loading } from "../parts/States.tsx"
import { Tabs } from "../parts/Tabs.tsx"
import "../style/market.css"
import { Candles } from "./Candles.tsx"
import { type Counterpart, SOL, USDC } from "./counterpart.ts"
import { ExitLadder } from "./ExitLadder.tsx"
import { FACTS_EVERY_MS, type FactsAnswer, TokenFacts } from "./TokenFacts.tsx"
import { Head } from "./Head.tsx"
import { HoldersOf, useHolders } from "./Holders.tsx"
import { Pools } from "./Pools.tsx"
import { QuoteBox } from "./QuoteBox.tsx"
import { Risk, RISK_EVERY_MS } from "./Risk.tsx"
import { Trades } from "./Trades.tsx"
import { TopTraders } from "./Traders.tsx"
import { useAlerts } from "./useAlerts.ts"
import { usePools } from "./usePools.ts"
import { STATS_EVERY_MS, Windows } from "./Windows.tsx"

/** The token as one side of a trade; null until its decimals are known. */
const sideOf = (answer: FactsAnswer | null): Counterpart | null => {
  const token = answer?.data.token
  return token?.decimals === undefined || token.decimals === null
    ? null
    : { mint: token.address, symbol: symbolOf(token), decimals: token.decimals }
}

/** Rows of a placeholder that is as high as the quote and the exit ladder. */
const TRADING_ROWS = 18

const Trading = ({ read }: { readonly read: Read<FactsAnswer> }) => {
  const token = sideOf(read.answer)
  if (token === null) {
    return (
      <section class="card">
        <h2>Quote</h2>
        {read.isLoading ? (
          <Loading what="the token" rows={TRADING_ROWS} />
        ) : (
          <InPlace rows={TRADING_ROWS}>
            <p class="soft">Amounts cannot be typed until the decimals of the token are known.</p>
          </InPlace>
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

type Tab = "trades" | "holders" | "pools" | "traders" | "risk"

const tabs: ReadonlyArray<readonly [Tab, string]> = [
  ["trades", "Trades"],
  ["holders", "Holders"],
  ["pools", "Pools"],
  ["traders", "Traders"],
  ["risk", "Risk"]
]

const solana = (mint: string) => ({ path: { chain: "solana", address: mint } })

/** One token: its head, its chart beside quote and exit, and lists in tabs. */
export const Token = () => {
  const { params } = useRoute()
  const mint = params["mint"] ?? ""
  const facts = useRead("GET /api/v1/tokens/:chain/:address", solana(mint), FACTS_EVERY_MS)
  const stats = useRead("GET /api/v1/tokens/:chain/:address/stats", solana(mint), STATS_EVERY_MS)
  const risk = useRead("GET /api/v1/tokens/:chain/:address/risk", solana(mint), RISK_EVERY_MS)
  const buyers = useRead("GET /api/v1/tokens/:chain/:address/first-buyers", { ...solana(mint), query: { limit: 1 } })
  const holders = useHolders(mint)
  const pools = usePools(mint)
  const { again: readAlerts, alerts } = useAlerts(mint)
  const [chosen, setChosen] = useState({ mint, pool: "" })
  const [tab, setTab] = useState<Tab>("trades")
  const lists = useRef<HTMLDivElement>(null)
  // The router keeps this component when the address changes from one token to another.
  const pool = chosen.mint === mint ? chosen.pool : ""
  const setPool = (next: string) => setChosen({ mint, pool: next })
  if (facts.failure !== null && isMissing(facts.failure)) {
    return <NotFound />
  }
  const known = pools.answer?.data.pools ?? []
  const showRisk = () => {
    setTab("risk")
    lists.current?.scrollIntoView({ block: "nearest" })
  }
  return (
    <>
      <Head
        key={mint}
        mint={mint}
        facts={facts.answer?.data ?? null}
        isFailed={facts.failure !== null}
        stats={stats.answer}
        holders={holders.answer?.data.holders}
        risk={risk}
        venue={known[0]?.dex ?? null}
        onRisk={showRisk}
        alerts={alerts}
        onAlerts={readAlerts}
      />
      <div class="token-board">
        <div class="stack">
          <Candles mint={mint} pools={known} pool={pool} onPool={setPool} alerts={alerts} onAlerts={readAlerts} />
          <Windows read={stats} />
        </div>
        <div class="stack">
          <Trading read={facts} />
          <TokenFacts read={facts} creator={buyers.answer?.data.creator ?? null} />
        </div>
        <div class="wide lists" ref={lists}>
          <Tabs label="Lists of the token" tabs={tabs} chosen={tab} onChoose={setTab}>
            {tab === "trades" && <Trades mint={mint} pool={pool} />}
            {tab === "holders" && <HoldersOf read={holders} />}
            {tab === "pools" && <Pools read={pools} />}
            {tab === "traders" && <TopTraders mint={mint} />}
            {tab === "risk" && <Risk read={risk} />}
          </Tabs>
        </div>
      </div>
    </>
  )
}
