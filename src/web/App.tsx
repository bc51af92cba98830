/** The frame of every page: navigation, the page itself, and who is signed in. */
import { LocationProvider, lazy, Route, Router } from "preact-iso"
import { SessionProvider, useSession } from "./data/session.tsx"
import { Header } from "./parts/Header.tsx"
import { Footer } from "./parts/Footer.tsx"
import { SignedOut } from "./parts/SignedOut.tsx"
import { Loading } from "./parts/States.tsx"
import { NotFound } from "./pages/NotFound.tsx"

const Changelog = lazy(() => import("./pages/Changelog.tsx").then((page) => page.Changelog))
const Developer = lazy(() => import("./pages/Developer.tsx").then((page) => page.Developer))
const Docs = lazy(() => import("./pages/Docs.tsx").then((page) => page.Docs))
const Home = lazy(() => import("./pages/Home.tsx").then((page) => page.Home))
const SignIn = lazy(() => import("./pages/SignIn.tsx").then((page) => page.SignIn))
const Wallet = lazy(() => import("./wallet/Wallet.tsx").then((page) => page.Wallet))
const Tracker = lazy(() => import("./tracker/Tracker.tsx").then((page) => page.Tracker))
const Alerts = lazy(() => import("./alerts/Alerts.tsx").then((page) => page.Alerts))
const Copy = lazy(() => import("./copy/Copy.tsx").then((page) => page.Copy))
const Callouts = lazy(() => import("./pages/Callouts.tsx").then((page) => page.Callouts))
const Perps = lazy(() => import("./perps/Perps.tsx").then((page) => page.Perps))
const Token = lazy(() => import("./pages/Token.tsx").then((page) => page.Token))
const Status = lazy(() => import("./pages/Status.tsx").then((page) => page.Status))

/** Moves the focus to the page that was opened, so that a screen reader announces it. */
const announce = () => {
  globalThis.scrollTo(0, 0)
  document.querySelector<HTMLElement>("#page")?.focus({ preventScroll: true })
}

const Pages = () => {
  const { state } = useSession()
  if (state === "unknown") {
    return <Loading what="the session" />
  }
  // The router keeps the component of an address it shows: the key replaces it with the session.
  return (
    <Router key={state} onRouteChange={announce}>
      <Route path="/" component={state === "in" ? Home : SignedOut} />
      <Route path="/w/:wallet" component={state === "in" ? Wallet : SignedOut} />
      <Route path="/tracker" component={state === "in" ? Tracker : SignedOut} />
      <Route path="/alerts" component={state === "in" ? Alerts : SignedOut} />
      <Route path="/copy" component={state === "in" ? Copy : SignedOut} />
      <Route path="/callouts" component={state === "in" ? Callouts : SignedOut} />
      <Route path="/perps" component={state === "in" ? Perps : SignedOut} />
      <Route path="/t/:mint" component={state === "in" ? Token : SignedOut} />
      <Route path="/docs" component={Docs} />
      <Route path="/docs/:page" component={Docs} />
      <Route path="/settings/developer" component={Developer} />
      <Route path="/changelog" component={Changelog} />
      <Route path="/sign-in" component={SignIn} />
      <Route path="/status" component={Status} />
      <Route default component={NotFound} />
    </Router>
  )
}

/** All pages. */
export const App = () => (
  <LocationProvider>
    <SessionProvider>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <Header />
      <main id="page" tabIndex={-1}>
        <Pages />
      </main>
      <Footer />
    </SessionProvider>
  </LocationProvider>
)
