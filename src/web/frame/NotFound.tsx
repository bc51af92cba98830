import { useTitle } from "../parts/useTitle.ts"

/** The page of every unknown address. */
export const NotFound = () => {
  useTitle("Not found")
  return (
    <section class="card">
      <h1>There is no page here</h1>
      <p>
        <a href="/">Go to the market</a>
      </p>
    </section>
  )
}
