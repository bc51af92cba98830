import type { ComponentChildren } from "preact"
import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { Figure } from "../parts/Figure.tsx"
import type { ScalarJson } from "../parts/numbers.ts"
import { Panel } from "../parts/Panel.tsx"
import { Facts } from "../parts/Facts.tsx"
import { because } from "../parts/words.ts"
import { EVERY_MS, type Span } from "./windows.ts"

type Totals = Answer<"GET /api/v1/market/overview">["data"]

/** A figure with its change against the window before. */
const Changed = ({ change, children }: { readonly change: ScalarJson; readonly children: ComponentChildren }) => (
  <>
    {children} {change.value !== null && <Figure of={change} signed short />}
  </>
)

/** Two shares of a whole as a bar: the first is green, the second red. */
const Balance = ({ down, up }: { readonly up: ScalarJson; readonly down: ScalarJson }) => {
  const [rising, falling] = [Number(up.value ?? 0), Number(down.value ?? 0)]
  const sum = rising + falling
  return sum === 0 ? null : (
    <svg class="balance" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="lost" width="100" height="4" />
      <rect class="won" width={(100 * rising) / sum} height="4" />
    </svg>
  )
}

const Launched = ({ of: { migrationRatePct, migrations, tokensCreated } }: { readonly of: Totals["launches"] }) => (
  <>
    <Figure of={tokensCreated} />
    <span class="under">
      <Figure of={migrations} /> graduated
      {migrationRatePct.value !== null && (
        <>
          , <Figure of={migrationRatePct} short />
        </>
      )}
    </span>
  </>
)

const Breadth = ({ of: { advancing, declining, unchanged } }: { readonly of: Totals["breadth"] }) => (
  <>
    <span class="up">
      <Figure of={advancing} /> ▲<span class="hidden"> rising</span>
    </span>{" "}
    <span class="down">
      <Figure of={declining} /> ▼<span class="hidden"> falling</span>
    </span>
    <Balance up={advancing} down={declining} />
    <span class="under">
      <Figure of={unchanged} /> unchanged
    </span>
  </>
)

const Traded = ({ of: { buyVolumeUsd, sellVolumeUsd } }: { readonly of: Totals["activity"] }) => (
  <>
    <Figure of={buyVolumeUsd} short /> <span class="soft">to</span> <Figure of={sellVolumeUsd} short />
    <Balance up={buyVolumeUsd} down={sellVolumeUsd} />
  </>
)

/** The whole market in one window. */
/** Whether the figures are whole, in a sentence. */
const Covered = ({ by }: { readonly by: { readonly complete: boolean; readonly reason: string | null } }) => {
  const words = by.complete
    ? "These figures cover the whole window."
    : `These figures are not complete yet${because(by)}.`
  return (
    <p class="note covered" title={words}>
      {words}
    </p>
  )
}

export const Overview = ({ span }: { readonly span: Span }) => {
  const read = useRead("GET /api/v1/market/overview", { query: { window: span } }, EVERY_MS)
  return (
    <Panel title="Overview" read={read} everyMs={EVERY_MS} rows={2} isWide>
      {({ data: { activity, breadth, change, launches, reference }, meta: { coverage } }) => (
        <>
          <div class="strip" role="region" aria-label="Figures of the market" tabIndex={0}>
            <Facts
              of={[
                [
                  "Volume",
                  <Changed change={change.volumeChangePct}>
                    <Figure of={activity.volumeUsd} short />
                  </Changed>
                ],
                [
                  "Trades",
                  <Changed change={change.tradesChangePct}>
                    <Figure of={activity.trades} />
                  </Changed>
                ],
                [
                  "Traders",
                  <Changed change={change.tradersChangePct}>
                    <Figure of={activity.traders} />
                  </Changed>
                ],
                ["Bought to sold", <Traded of={activity} />],
                ["Rising and falling tokens", <Breadth of={breadth} />],
                ["Launches", <Launched of={launches} />],
                [
                  "SOL",
                  <Changed change={reference.solChangePct}>
                    <Figure of={reference.solUsd} />
                  </Changed>
                ]
              ]}
            />
          </div>
          <Covered by={coverage} />
        </>
      )}
    </Panel>
  )
}
