import { useRead } from "../data/useRead.ts"
import { Facts } from "../parts/Facts.tsx"
import { Figure } from "../parts/Figure.tsx"
import { Panel } from "../parts/Panel.tsx"
import { because } from "../parts/words.ts"
import { EVERY_MS, type Span } from "./windows.ts"

/** The whole market in one window. */
export const Overview = ({ span }: { readonly span: Span }) => {
  const read = useRead("GET /api/v1/market/overview", { query: { window: span } }, EVERY_MS)
  return (
    <Panel title="Overview" read={read} everyMs={EVERY_MS} rows={4} isWide>
      {({ data: { activity, breadth, change, launches, reference }, meta: { coverage } }) => (
        <>
          <Facts
            of={[
              [
                "Volume",
                <>
                  <Figure of={activity.volumeUsd} short /> <Figure of={change.volumeChangePct} signed short />
                </>
              ],
              [
                "Trades",
                <>
                  <Figure of={activity.trades} /> <Figure of={change.tradesChangePct} signed short />
                </>
              ],
              [
                "Traders",
                <>
                  <Figure of={activity.traders} /> <Figure of={change.tradersChangePct} signed short />
                </>
              ],
              ["Bought", <Figure of={activity.buyVolumeUsd} short />],
              ["Sold", <Figure of={activity.sellVolumeUsd} short />],
              ["Launches", <Figure of={launches.tokensCreated} />],
              [
                "Graduations",
                <>
                  <Figure of={launches.migrations} /> <Figure of={launches.migrationRatePct} short />
                </>
              ],
              [
                "Rising, falling, unchanged",
                <>
                  <Figure of={breadth.advancing} />, <Figure of={breadth.declining} />,{" "}
                  <Figure of={breadth.unchanged} />
                </>
              ],
              [
                "SOL",
                <>
                  <Figure of={reference.solUsd} /> <Figure of={reference.solChangePct} signed short />
                </>
              ]
            ]}
          />
          {!coverage.complete && <p class="note">These figures are incomplete{because(coverage)}.</p>}
        </>
      )}
    </Panel>
  )
}
