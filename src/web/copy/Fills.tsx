/** Trades of leaders and their copies. */
import { useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { call } from "../data/request.ts"
import { usePages } from "../data/usePages.ts"
import { Amount, textOf } from "../parts/Amount.tsx"
import { SelectField } from "../parts/Field.tsx"
import { TokenLink, WalletLink, When } from "../parts/Links.tsx"
import { PagedTable } from "../parts/More.tsx"
import type { Column } from "../parts/Table.tsx"
import { isolated } from "../parts/words.ts"

type Fill = Answer<"GET /api/v1/copy/fills">["data"][number]

const READ_MS = 10_000
const MILLIS = 1000

const statuses = [
  ["", "All outcomes"],
  ["filled", "Filled"],
  ["pending", "Pending"],
  ["skipped", "Skipped"],
  ["failed", "Failed"]
] as const

const reasons: Readonly<Record<string, string>> = {
  filter: "a filter excluded it",
  insufficient_balance: "the balance was too low",
  slippage: "the price had moved too far",
  no_route: "no pool could be used",
  leader_reverted: "the leader's own trade failed",
  paused: "copying was paused",
  other: "another reason"
}

/** How much later a copy was than its leader's trade. The chain gives both times by their blocks. */
const laterWords = (leader: Fill["leader"], execution: Fill["execution"]): string => {
  if (execution === null) {
    return "–"
  }
  const slots = execution.slot - leader.slot
  if (slots === 0) {
    return "same block"
  }
  const seconds = (execution.atMs - leader.atMs) / MILLIS
  return `${slots} ${slots === 1 ? "slot" : "slots"}, ${textOf(seconds, 2)} s`
}

const columns: ReadonlyArray<Column<Fill>> = [
  { name: "Leader's trade", cell: ({ leader }) => <When atMs={leader.atMs} /> },
  { name: "Leader", cell: ({ leader }) => <WalletLink wallet={leader.wallet} /> },
  { name: "Side", cell: ({ side }) => <span class={side === "buy" ? "up" : "down"}>{side}</span> },
  { name: "Token", cell: ({ mint }) => <TokenLink mint={mint} /> },
  {
    name: "Outcome",
    cell: ({ reason, status }) => (reason === null ? status : `${status}: ${reasons[reason] ?? reason}`)
  },
  { name: "Leader's value", isNumber: true, cell: ({ leader }) => <Amount of={leader.valueUsd} unit="usd" short /> },
  {
    name: "Copy's value",
    isNumber: true,
    cell: ({ execution }) => (
      <Amount
        of={execution?.valueUsd ?? null}
        unit="usd"
        short
        why={execution === null ? "there is no copy" : "unknown"}
      />
    )
  },
  {
    name: "Worse than the leader",
    isNumber: true,
    cell: ({ slippageVsLeaderPct }) => <Amount of={slippageVsLeaderPct} unit="percent" short />
  },
  { name: "Later by", isNumber: true, cell: ({ execution, leader }) => laterWords(leader, execution) },
  {
    name: "Realized",
    isNumber: true,
    cell: ({ realized, side }) => (
      <Amount of={realized} unit="usd" signed short why={side === "buy" ? "a purchase realizes nothing" : "unknown"} />
    )
  }
]

/** Fills of one follow, or of all follows when `followId` is empty. */
export const Fills = ({
  followId,
  follows,
  onChoose
}: {
  /** Ids and names of the follows. */
  readonly follows: ReadonlyArray<readonly [string, string]>
  readonly followId: string
  readonly onChoose: (followId: string) => void
}) => {
  const [status, setStatus] = useState<(typeof statuses)[number][0]>("")
  const pages = usePages(
    `fills ${followId} ${status}`,
    (cursor, signal) => call("GET /api/v1/copy/fills", { query: { cursor, followId, status, limit: 50 }, signal }),
    ({ id }) => id,
    READ_MS
  )
  return (
    <section class="card" aria-labelledby="fills">
      <div class="head">
        <h2 id="fills">Fills</h2>
        <div class="row">
          <SelectField
            label="Leader"
            name="followId"
            options={[["", "All leaders"], ...follows.map(([id, name]) => [id, isolated(name)] as const)]}
            value={followId}
            onChoose={onChoose}
          />
          <SelectField label="Outcome" name="status" options={statuses} value={status} onChoose={setStatus} />
        </div>
      </div>
      <PagedTable
        pages={pages}
        what="fills"
        height={30}
        isDense
        caption="Trades of leaders and their copies, newest first"
        columns={columns}
        keyOf={({ id }) => id}
        empty="No trade matches."
      />
    </section>
  )
}
