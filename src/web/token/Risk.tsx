import type { Answer } from "../data/contract.ts"
import { useRead } from "../data/useRead.ts"
import { When } from "../parts/Links.tsx"
import { Panel } from "../parts/Panel.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { ageWords, reasonWords } from "../parts/words.ts"

type Tag = Answer<"GET /api/v1/tokens/:chain/:address/risk">["data"]["tags"][number]

const EVERY_MS = 60_000

const names: Readonly<Record<string, string>> = {
  mint_authority_active: "More can be minted",
  freeze_authority_active: "Balances can be frozen",
  concentrated_top10: "Ten wallets hold much",
  developer_holding: "The developer holds",
  developer_sold_all: "The developer sold all",
  sniper_holding: "Snipers hold",
  insider_holding: "Insiders hold",
  bundled_holding: "Bundled purchases hold",
  suspected_wash_volume: "Volume looks traded in circles",
  lp_not_burned: "Liquidity can be withdrawn"
}

const states = { present: "Yes", absent: "No", unknown: "Not known" } as const

const columns: ReadonlyArray<Column<Tag>> = [
  { name: "Signal", cell: ({ code }) => names[code] ?? reasonWords(code) },
  {
    name: "State",
    cell: ({ severity, state }) => (
      <span
        class={`signal ${state} ${severity}`}
        title={severity === "warning" ? "A warning where present" : "Information"}
      >
        {states[state]}
      </span>
    )
  },
  {
    name: "Proof",
    cell: ({ coverage: { reason }, source, staleAfterMs, status }) =>
      source === "none" ? (
        "no source"
      ) : (
        <span title={staleAfterMs === null ? undefined : `Counts for ${ageWords(staleAfterMs)}`}>
          {source.replaceAll("-", " ")}, {status}
          {reason !== null && `: ${reasonWords(reason)}`}
        </span>
      )
  },
  { name: "Observed", isNumber: true, cell: ({ observedAtMs }) => <When atMs={observedAtMs} /> }
]

/** Signals about one token, each with what it rests on. */
export const Risk = ({ mint }: { readonly mint: string }) => {
  const read = useRead(
    "GET /api/v1/tokens/:chain/:address/risk",
    { path: { chain: "solana", address: mint } },
    EVERY_MS
  )
  return (
    <Panel title="Risk" read={read} everyMs={EVERY_MS} rows={10}>
      {({ data: { tags } }) => (
        <Table
          caption="Observations, not a score and not advice. A signal that is not known does not speak for a token."
          columns={columns}
          rows={tags}
          keyOf={({ code }) => code}
        />
      )}
    </Panel>
  )
}
