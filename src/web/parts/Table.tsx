/** Tables that scroll sideways on their own where the page is narrow. */
import type { ComponentChildren } from "preact"
import type { Sorting } from "./sorting.ts"
import { Empty } from "./States.tsx"

export interface Column<Row> {
  readonly name: string
  /** Aligns the cells to the right. */
  readonly isNumber?: boolean
  /** Keeps the cells wide enough for words. */
  readonly isWords?: boolean
  /** Shows the name to screen readers only. */
  readonly isUnnamed?: boolean
  /** Key by which the table can be sorted; without one the head is plain text. */
  readonly sort?: string
  readonly cell: (row: Row) => ComponentChildren
}

/** A table as its caller describes it. */
export interface TableProps<Row> {
  /** Names the table for screen readers, and in sight unless there is a `note`. */
  readonly caption: string
  /** Stands in place of the caption in sight. */
  readonly note?: ComponentChildren
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  /** Stands in place of a table without rows. By default the table shows its head alone. */
  readonly empty?: ComponentChildren
  readonly sorting?: Sorting
  /** Sorts by a column: downwards first, and the other way round the second time. */
  readonly onSort?: (sorting: Sorting) => void
  /** True for closer rows. */
  readonly isDense?: boolean
}

const rowSteps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** The arrow keys move between the links that name the rows. */
const stepRows = (event: KeyboardEvent) => {
  const step = rowSteps[event.key]
  const { currentTarget: region, target } = event
  if (step === undefined || !(region instanceof Element) || !(target instanceof HTMLAnchorElement)) {
    return
  }
  const links = Array.from(region.querySelectorAll<HTMLElement>("tbody th a"))
  const next = links[links.indexOf(target) + step]
  if (links.includes(target) && next !== undefined) {
    event.preventDefault()
    next.focus()
  }
}

const Head = <Row,>({
  column: { isNumber, isUnnamed, name, sort },
  onSort,
  sorting
}: Pick<TableProps<Row>, "onSort" | "sorting"> & { readonly column: Column<Row> }) => {
  const isSorted = sort !== undefined && sort === sorting?.key
  const isDown = isSorted && sorting.isDown
  return (
    <th
      scope="col"
      class={isNumber === true ? "number" : undefined}
      aria-sort={isSorted ? (isDown ? "descending" : "ascending") : undefined}
    >
      {isUnnamed === true ? (
        <span class="hidden">{name}</span>
      ) : sort === undefined || onSort === undefined ? (
        name
      ) : (
        <button type="button" class="sort" onClick={() => onSort({ key: sort, isDown: !isDown })}>
          {name}
          <span aria-hidden="true">{isSorted ? (isDown ? "▾" : "▴") : ""}</span>
        </button>
      )}
    </th>
  )
}

/** A table with a caption. The first column names the row. */
export const Table = <Row,>({
  caption,
  columns,
  empty,
  isDense = false,
  keyOf,
  note,
  onSort,
  rows,
  sorting
}: TableProps<Row>) =>
  rows.length === 0 && empty !== undefined ? (
    <Empty>{empty}</Empty>
  ) : (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0} onKeyDown={stepRows}>
      <table class={isDense ? "dense" : undefined}>
        <caption>
          <span>{note ?? caption}</span>
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head
                key={column.name}
                column={column}
                {...(sorting === undefined ? {} : { sorting })}
                {...(onSort === undefined ? {} : { onSort })}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ cell, isNumber, isWords, name }, at) =>
                at === 0 ? (
                  <th key={name} scope="row" class="name">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} class={isNumber === true ? "number" : isWords === true ? "phrase" : undefined}>
                    {cell(row)}
                  </td>
                )
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

/** A table without caption and row names, for documents. `label` names it for screen readers. */
export const PlainTable = ({
  head,
  label,
  rows
}: {
  readonly label: string
  readonly head: ReadonlyArray<ComponentChildren>
  /** The cells of each row, with the id of the row where addresses link to it. */
  readonly rows: ReadonlyArray<{ readonly id?: string; readonly cells: ReadonlyArray<ComponentChildren> }>
}) => (
  <div class="scroll" role="group" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {head.map((name, place) => (
            <th key={place} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ cells, id }, row) => (
          <tr key={id ?? row} id={id}>
            {cells.map((cell, place) => (
              <td key={place}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
