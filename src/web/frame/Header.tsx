import { useLocation } from "preact-iso"
import { useEffect, useState } from "preact/hooks"
import { useSession } from "../data/session.tsx"
import { Bell } from "./Bell.tsx"
import { FindToken } from "./FindToken.tsx"
import logo from "./logo.svg"

const places = [
  ["/", "Market"],
  ["/tracker", "Tracker"],
  ["/alerts", "Alerts"],
  ["/copy", "Copy"],
  ["/callouts", "Callouts"],
  ["/perps", "Perps"],
  ["/docs", "Docs"],
  ["/status", "Status"]
] as const

const isAt = (path: string, place: string): boolean =>
  place === "/" ? path === "/" || path.startsWith("/t/") : path === place || path.startsWith(`${place}/`)

const Account = ({ path }: { readonly path: string }) => {
  const { account, signOut, state } = useSession()
  return (
    <div class="account">
      {state === "in" && account !== null ? (
        <>
          <a href="/settings/developer" aria-current={isAt(path, "/settings") ? "page" : undefined}>
            <bdi>{account.name}</bdi>
          </a>
          <button type="button" class="plain" onClick={() => signOut()}>
            Sign out
          </button>
        </>
      ) : (
        state === "out" && <a href="/sign-in">Sign in</a>
      )}
    </div>
  )
}

/** The navigation of the app with the search. Where the window is narrow, the places are in a menu. */
export const Header = () => {
  const { path, url } = useLocation()
  const { state } = useSession()
  const [isOpen, setOpen] = useState(false)
  useEffect(() => setOpen(false), [url])
  return (
    <header class="top" onKeyDown={({ key }) => key === "Escape" && setOpen(false)}>
      <a class="brand" href="/" aria-label="Fathom">
        <img src={logo} alt="" width="28" height="28" />
        <span>Fathom</span>
      </a>
      <div class={isOpen ? "places open" : "places"} id="places">
        <nav aria-label="Pages">
          <ul>
            {places.map(([place, name]) => (
              <li key={place}>
                <a href={place} aria-current={isAt(path, place) ? "page" : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <Account path={path} />
      </div>
      <div class="search">{state === "in" && <FindToken />}</div>
      {state === "in" && <Bell />}
      <button
        type="button"
        class="menu"
        aria-expanded={isOpen}
        aria-controls="places"
        aria-label="Menu"
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">{isOpen ? "✕" : "☰"}</span>
      </button>
    </header>
  )
}
