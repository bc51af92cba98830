import { useLocation } from "preact-iso"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import type { Answer } from "../data/contract.ts"
import { type Read, useRead } from "../data/useRead.ts"
import { Figure } from "../parts/Figure.tsx"
import { Failed } from "../parts/States.tsx"
import { shortAddress } from "../parts/words.ts"

type Found = Answer<"GET /api/v1/search">
type Row = Found["data"][number]

const MINT = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u
const ROWS = 8
/** Milliseconds after the last key before the service is asked. */
const PAUSE_MS = 250
const LONGEST = 64

/** The value, once it has not changed for `PAUSE_MS`. */
const usePaused = <A,>(value: A): A => {
  const [paused, setPaused] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return paused
}

const Line = ({ row: { liquidityUsd, lookAlike, shownName, shownSymbol, token } }: { readonly row: Row }) => (
  <>
    <span class="row spread">
      <span class="token-line">
        <bdi>{shownSymbol ?? shortAddress(token.address)}</bdi>{" "}
        {shownName !== null && <bdi class="soft">{shownName}</bdi>}
      </span>
      <span class="address soft">{shortAddress(token.address)}</span>
    </span>
    <span class="row spread soft">
      <span>
        Liquidity <Figure of={liquidityUsd} short />
      </span>
      {lookAlike.isLookAlike === true && <strong class="copy">Same symbol as a much larger token</strong>}
    </span>
  </>
)

/** The state of a search in words. */
const wordsOf = ({ answer, failure }: Read<Found>): string => {
  if (answer === null) {
    return failure === null ? "Searching" : ""
  }
  const { index } = answer.meta
  if (answer.data.length > 0) {
    return `${answer.data.length} ${answer.data.length === 1 ? "token" : "tokens"}. Names are not verified.`
  }
  return index.named < index.mints
    ? "No token found. Some names are not loaded yet; search for those tokens by mint."
    : "No token found with this symbol, name or mint."
}

/** The tokens that a text finds. There is no answer until the service has been asked for this text. */
const useFound = (text: string): Read<Found> => {
  const query = usePaused(text)
  const read = useRead("GET /api/v1/search", query === "" ? null : { query: { q: query, limit: ROWS } })
  return query === text ? read : { ...read, answer: null, failure: null }
}

const Options = ({
  active,
  id,
  onOpen,
  rows
}: {
  readonly id: string
  readonly rows: ReadonlyArray<Row>
  /** Place of the option that the arrow keys chose; -1 for none. */
  readonly active: number
  readonly onOpen: (mint: string) => void
}) => (
  <ul role="listbox" id={`${id}-list`} aria-label="Tokens">
    {rows.map((row, at) => (
      <li
        key={row.token.address}
        id={`${id}-${at}`}
        role="option"
        aria-selected={at === active}
        title={row.token.address}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onOpen(row.token.address)}
      >
        <Line row={row} />
      </li>
    ))}
  </ul>
)

/** True where a key that is pressed is text. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/u.test(target.tagName))

/** The key `/` moves the focus to an input, on every page. */
const useSlash = () => {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
        event.preventDefault()
        input.current?.focus()
      }
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [])
  return input
}

/**
 * A field that finds tokens while the user types. `/` moves to it, the arrow keys choose a token, Enter opens it.
 * Escape closes the list, and then leaves the field.
 */
export const FindToken = () => {
  const { route, url } = useLocation()
  const id = useId()
  const input = useSlash()
  const [text, setText] = useState("")
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  // True after Enter was pressed before the answer: the first token of the answer then opens.
  const [isEntered, setEntered] = useState(false)
  const wanted = text.trim()
  const current = useFound(wanted)
  const rows = current.answer?.data ?? []
  const isShown = isOpen && wanted !== ""
  const close = () => {
    setOpen(false)
    setEntered(false)
  }
  useEffect(() => {
    setText("")
    close()
  }, [url])
  const open = (mint: string) => route(`/t/${mint}`)
  useEffect(() => {
    const [first] = rows
    if (isEntered && current.answer !== null) {
      setEntered(false)
      if (first !== undefined) {
        open(first.token.address)
      }
    }
  }, [isEntered, current.answer])
  const enter = (event: Event) => {
    event.preventDefault()
    const chosen = rows[active]
    if (chosen !== undefined) {
      open(chosen.token.address)
    } else if (MINT.test(wanted)) {
      open(wanted)
    } else {
      setOpen(true)
      setEntered(wanted !== "")
    }
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault()
      setOpen(true)
      const next = active + (event.key === "ArrowDown" ? 1 : -1)
      setActive(Math.min(rows.length - 1, Math.max(-1, next)))
    }
    if (event.key === "Escape") {
      if (!isShown) {
        setText("")
        input.current?.blur()
      }
      close()
      setActive(-1)
    }
  }
  const leave = (event: FocusEvent) => {
    const to = event.relatedTarget
    if (!(to instanceof Node) || !(event.currentTarget as HTMLElement).contains(to)) {
      close()
    }
  }
  return (
    <search class="find" onFocusOut={leave}>
      <form onSubmit={enter} noValidate>
        <input
          ref={input}
          role="combobox"
          aria-keyshortcuts="/"
          aria-label="Search the market"
          aria-autocomplete="list"
          aria-expanded={isShown && rows.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={isShown && active >= 0 ? `${id}-${active}` : undefined}
          placeholder="Search token or mint   /"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={LONGEST}
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setActive(-1)
            setEntered(false)
            setOpen(true)
          }}
          onFocus={() => setOpen(true)}
          onKeyDown={press}
        />
      </form>
      <div class={isShown ? "found" : "hidden"}>
        <Options id={id} rows={isShown ? rows : []} active={active} onOpen={open} />
        {isShown && current.failure !== null && <Failed failure={current.failure} isRetrying={current.isRetrying} />}
        <p role="status" class="soft">
          {isShown ? wordsOf(current) : ""}
        </p>
      </div>
    </search>
  )
}
