import { useState } from "preact/hooks"

/** A long list a page at a time: the rows of the page, and buttons that turn it where there is more than one. */
export const usePaged = <Row,>(rows: ReadonlyArray<Row>, size: number, label: string) => {
  const [wanted, setPage] = useState(0)
  const pages = Math.max(1, Math.ceil(rows.length / size))
  const page = Math.min(wanted, pages - 1)
  const turn =
    pages === 1 ? null : (
      <nav class="row turn" aria-label={label}>
        <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>
          Previous
        </button>
        <span>
          {page * size + 1} to {Math.min(rows.length, (page + 1) * size)} of {rows.length}
        </span>
        <button type="button" disabled={page === pages - 1} onClick={() => setPage(page + 1)}>
          Next
        </button>
      </nav>
    )
  return { shown: rows.slice(page * size, (page + 1) * size), turn }
}
