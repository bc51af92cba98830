import { useState } from "preact/hooks"
import { FindToken } from "./FindToken.tsx"
import { Launches } from "./Launches.tsx"
import { Movers } from "./Movers.tsx"
import { Overview } from "./Overview.tsx"
import { Venues } from "./Venues.tsx"
import { type Span, spans } from "./windows.ts"
import { watched } from "../data/watched.ts"
import { Choice } from "../parts/Choice.tsx"
import { TokenLink } from "../parts/Links.tsx"
import { useTitle } from "../parts/useTitle.ts"
import "../style/market.css"

/** Links to the tokens that this browser watches; nothing without any. */
const WatchedTokens = () => {
  const tokens = watched()
  return tokens.length === 0 ? null : (
    <nav class="row watched" aria-label="Watched tokens">
      <span class="soft">Watched</span>
      {tokens.map(({ mint, symbol }) => (
        <TokenLink key={mint} mint={mint} symbol={symbol} />
      ))}
    </nav>
  )
}

/** The market at a glance. */
export const Market = () => {
  useTitle("Market")
  const [span, setSpan] = useState<Span>("1h")
  return (
    <>
      <div class="row spread head">
        <h1>Market</h1>
        <FindToken />
        <Choice label="Window" options={spans} value={span} onChange={setSpan} />
      </div>
      <WatchedTokens />
      <div class="board">
        <Overview span={span} />
        <Movers span={span} />
        <Launches span={span} />
        <Venues span={span} />
      </div>
    </>
  )
}
