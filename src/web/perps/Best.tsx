import { Amount } from "../parts/Amount.tsx"
import { Facts } from "../parts/Facts.tsx"
import { costUsd, type Comparison, nameOf } from "./venues.ts"

const Bps = ({ of: bps }: { readonly of: number | null }) => <Amount of={bps} unit="bps" />

/** The cheapest venue and the parts of its cost. */
export const Best = ({ of: { bestPick, perVenue, query, reasonBps } }: { readonly of: Comparison }) => {
  if (bestPick === null || reasonBps === null) {
    return (
      <section class="card" aria-live="polite">
        <h2>No venue can fill this</h2>
        <p>The reasons are below. A smaller size may fit.</p>
      </section>
    )
  }
  const next = perVenue.find(({ reason, venue }) => reason === null && venue !== bestPick.venue)
  const received = reasonBps.fundingBps < 0
  return (
    <section class="card" aria-live="polite">
      <h2>
        {nameOf(bestPick.venue)} is cheapest for {query.size} {query.symbol} held {query.holdHours} h
      </h2>
      <p>
        It costs <Bps of={reasonBps.totalBps} /> in total, about{" "}
        <Amount of={costUsd(reasonBps.totalBps, bestPick.mid, query.size)} unit="usd" />
        {reasonBps.vsNextBps !== null && next !== undefined && (
          <>
            . {nameOf(next.venue)}, the next cheapest, costs <Bps of={reasonBps.vsNextBps} /> more
          </>
        )}
        .
      </p>
      <Facts
        of={[
          ["Fee of the venue", <Bps of={reasonBps.takerBps} />],
          ["Price impact", <Bps of={reasonBps.impactBps} />],
          [received ? "Funding, paid to you" : "Funding, paid by you", <Bps of={reasonBps.fundingBps} />],
          ["Fee of this service", <Bps of={reasonBps.ourBps} />]
        ]}
      />
    </section>
  )
}
