import { useRead } from "../data/useRead.ts"
import { Fact } from "../parts/Fact.tsx"
import { Figure } from "../parts/Figure.tsx"
import { Panel } from "../parts/Panel.tsx"
import { reasonWords } from "../parts/words.ts"
import { EVERY_MS, type Span } from "./windows.ts"

/** The whole market in one window. */
export const Overview = ({ span }: { readonly span: Span }) => {
  const read = useRead("GET /api/v1/market/overview", { query: { window: span } }, EVERY_MS)
  return (
    <Panel title="Overview" read={read} everyMs={EVERY_MS} rows={4} isWide>
      {({ data: { activity, breadth, change, launches, reference }, meta: { coverage } }) => (
        <>
          <dl class="facts">
            <Fact name="Volume">
              <Figure of={activity.volumeUsd} short /> <Figure of={change.volumeChangePct} signed short />
            </Fact>
            <Fact name="Trades">
              <Figure of={activity.trades} /> <Figure of={change.tradesChangePct} signed short />
            </Fact>
            <Fact name="Traders">
              <Figure of={activity.traders} /> <Figure of={change.tradersChangePct} signed short />
            </Fact>
            <Fact name="Bought">
              <Figure of={activity.buyVolumeUsd} short />
            </Fact>
            <Fact name="Sold">
              <Figure of={activity.sellVolumeUsd} short />
            </Fact>
            <Fact name="Launches">
              <Figure of={launches.tokensCreated} />
            </Fact>
            <Fact name="Graduations">
              <Figure of={launches.migrations} /> <Figure of={launches.migrationRatePct} short />
            </Fact>
            <Fact name="Rising, falling, unchanged">
              <Figure of={breadth.advancing} />, <Figure of={breadth.declining} />, <Figure of={breadth.unchanged} />
            </Fact>
            <Fact name="SOL">
              <Figure of={reference.solUsd} /> <Figure of={reference.solChangePct} signed short />
            </Fact>
          </dl>
          {coverage.reason !== null && <p class="note">Not whole: {reasonWords(coverage.reason)}.</p>}
        </>
      )}
    </Panel>
  )
}
