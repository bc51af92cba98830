/** The columns of a list of tokens. The reader chooses which of them are shown. */
import { Figure } from "../parts/Figure.tsx"
import type { ScalarJson } from "../parts/numbers.ts"
import type { Column } from "../parts/Table.tsx"
import { figureOf, heatOf, type Line } from "./ranking.ts"
import { TokenName } from "./TokenName.tsx"
import { type Span, spans } from "./windows.ts"

/** A change on a ground whose colour grows with it. */
const Heat = ({ of: change }: { readonly of: ScalarJson | null }) =>
  change === null ? (
    <span class="soft" title="Not among the most traded tokens of this window">
      –
    </span>
  ) : (
    <span class={`heat heat${heatOf(change.value)}`}>
      <Figure of={change} signed short />
    </span>
  )

const Number = ({ of: figure, short = true }: { readonly of: ScalarJson | null; readonly short?: boolean }) =>
  figure === null ? <span class="soft">–</span> : <Figure of={figure} short={short} />

/** Keys and names of all columns but the first, in order. */
export const columnNames: ReadonlyArray<readonly [key: string, name: string]> = [
  ["price", "Price"],
  ...spans,
  ["volume", "Volume"],
  ["trades", "Trades"],
  ["traders", "Traders"],
  ["liquidity", "Liquidity"],
  ["cap", "Market cap"]
]

const isSpan = (key: string): key is Span => spans.some(([span]) => span === key)

/** The columns with these keys, after the name of the token. */
export const columnsOf = (keys: ReadonlySet<string>, list?: string): ReadonlyArray<Column<Line>> => [
  {
    name: "Token",
    cell: ({ token }) => <TokenName token={token} {...(list === undefined ? {} : { list })} />
  },
  ...columnNames.flatMap(([key, name]): ReadonlyArray<Column<Line>> =>
    keys.has(key)
      ? [
          {
            name,
            isNumber: true,
            sort: key,
            cell: (line) =>
              isSpan(key) ? (
                <Heat of={line.changes[key]} />
              ) : (
                <Number of={figureOf(line, key)} short={key !== "price"} />
              )
          }
        ]
      : []
  )
]

/** Boxes that choose the columns. */
export const ChooseColumns = ({
  keys,
  onChange
}: {
  readonly keys: ReadonlySet<string>
  readonly onChange: (keys: ReadonlySet<string>) => void
}) => (
  <details class="popup">
    <summary>Columns</summary>
    <div class="card popped">
      {columnNames.map(([key, name]) => (
        <label class="check" key={key}>
          <input
            type="checkbox"
            checked={keys.has(key)}
            onChange={() =>
              onChange(new Set(columnNames.flatMap(([each]) => (keys.has(each) !== (each === key) ? [each] : []))))
            }
          />
          {name}
        </label>
      ))}
    </div>
  </details>
)
