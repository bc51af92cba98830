import { HeatMap } from "./HeatMap.tsx"
import { Launches } from "./Launches.tsx"
import { Leaders } from "./Leaders.tsx"
import { Overview } from "./Overview.tsx"
import { Tokens } from "./Tokens.tsx"
import { tabs, useMarketState } from "./useMarketState.ts"
import { Venues } from "./Venues.tsx"
import { Watchlists } from "./Watchlists.tsx"
import { spans } from "./windows.ts"
import { Choice } from "../parts/Choice.tsx"
import { Tabs } from "../parts/Tabs.tsx"
import { useTitle } from "../parts/useTitle.ts"
import "../style/market.css"

/** The market: its totals, and below them one of several lists. The address says which, and how it is sorted. */
export const Market = () => {
  useTitle("Market")
  const state = useMarketState()
  const { span, tab } = state
  return (
    <div class="market">
      <div class="row spread head">
        <h1>Market</h1>
        <Choice label="Window" options={spans} value={span} onChange={state.setSpan} />
      </div>
      <Overview span={span} />
      <Tabs label="Parts of the market" tabs={tabs} chosen={tab} onChoose={state.setTab}>
        {tab === "tokens" && <Tokens state={state} />}
        {tab === "launches" && <Launches span={span} />}
        {tab === "watchlists" && <Watchlists state={state} />}
        {tab === "wallets" && <Leaders />}
        {tab === "map" && <HeatMap state={state} />}
        {tab === "venues" && <Venues span={span} />}
      </Tabs>
    </div>
  )
}
