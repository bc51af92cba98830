/** Tables that scroll sideways on their own where the page is narrow. */
import type { ComponentChildren } from "preact"
import { Empty } from "./States.tsx"

export interface Column<Row> {
  readonly name: string
  /** Aligns the cells to the right. */
  readonly isNumber?: boolean
  /** Shows the name to screen readers only. */
  readonly isUnnamed?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

/** A table as its caller describes it. */
export interface TableProps<Row> {
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly keyOf: (row: Row) => string
  /** Stands in place of a table without rows. By default the table shows its head alone. */
  readonly empty?: ComponentChildren
}

/** A table with a caption. The first column names the row. */
export const Table = <Row,>({ caption, columns, empty, keyOf, rows }: TableProps<Row>) =>
  rows.length === 0 && empty !== undefined ? (
    <Empty>{empty}</Empty>
  ) : (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ isNumber, isUnnamed, name }) => (
              <th key={name} scope="col" class={isNumber === true ? "number" : undefined}>
                {isUnnamed === true ? <span class="hidden">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ cell, isNumber, name }, at) =>
                at === 0 ? (
                  <th key={name} scope="row" class="name">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} class={isNumber === true ? "number" : undefined}>
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
