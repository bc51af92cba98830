import { useLocation } from "preact-iso"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Reference } from "./document.ts"
import { type Entry, find, indexOf } from "./search.ts"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName)

/** Calls `focus` when the key `/` is pressed outside a text field. */
const useSlash = (focus: () => void) => {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
        event.preventDefault()
        focus()
      }
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [focus])
}

const hrefOf = ({ kind, name, operation }: Entry): string =>
  kind === "error" ? `/docs/errors#${name}` : `/docs/${operation}`

const AROUND = 60

/** The words around the place in a text where the query, or its first word, stands. */
const excerptOf = (text: string, query: string): string => {
  const plain = text.replaceAll(/[`*|#]+|\]\([^)]*\)|\[/gu, " ").replaceAll(/\s+/gu, " ")
  const word = query.toLowerCase().split(/\s+/u).find(Boolean) ?? ""
  const place = Math.max(0, plain.toLowerCase().indexOf(word))
  const from = place < AROUND ? 0 : plain.indexOf(" ", place - AROUND) + 1
  return plain.slice(from, place + AROUND).trim()
}

/** What stands beside the name of a result. */
const noteOf = ({ kind, operation, text }: Entry, query: string): string => {
  if (kind === "section") {
    return excerptOf(text, query)
  }
  return kind === "operation" ? text : `${kind} of ${operation}`
}

/** Moves the focus among the results. */
const moveIn = (list: HTMLElement | null, step: number) => {
  const links = Array.from(list?.querySelectorAll("a") ?? [])
  const place = links.findIndex((link) => link === document.activeElement)
  links[Math.min(links.length - 1, Math.max(0, place + step))]?.focus()
}

/** A field that finds operations, parameters, fields, error codes and sections of the guides. */
export const Search = ({ reference }: { readonly reference: Reference }) => {
  const [query, setQuery] = useState("")
  const { route, url } = useLocation()
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const index = useMemo(() => indexOf(reference), [reference])
  const found = useMemo(() => find(index, query), [index, query])
  const focus = useRef(() => input.current?.focus())
  useSlash(focus.current)
  useEffect(() => setQuery(""), [url])
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      moveIn(list.current, event.key === "ArrowDown" ? 1 : -1)
    }
    if (event.key === "Escape") {
      setQuery("")
      input.current?.focus()
    }
  }
  const open = (event: Event) => {
    event.preventDefault()
    const [first] = found
    if (first !== undefined) {
      route(hrefOf(first))
    }
  }
  return (
    <search onKeyDown={press}>
      <form onSubmit={open}>
        <label for="search">
          <span>
            Search <kbd>/</kbd>
          </span>
        </label>
        <input
          id="search"
          ref={input}
          type="search"
          autocomplete="off"
          placeholder="operation, field, code, word"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
      </form>
      <p role="status" class="hidden">
        {query === "" ? "" : `${found.length} results`}
      </p>
      {query !== "" && (
        <ul class="results" ref={list}>
          {found.map((entry) => (
            <li key={`${entry.operation} ${entry.kind} ${entry.name}`}>
              <a href={hrefOf(entry)}>
                {entry.kind === "section" ? <span>{entry.name}</span> : <code>{entry.name}</code>}
                <span class="soft">{noteOf(entry, query)}</span>
              </a>
            </li>
          ))}
          {found.length === 0 && <li class="soft">Nothing found.</li>}
        </ul>
      )}
    </search>
  )
}
