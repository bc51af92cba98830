import { useTitle } from "../parts/useTitle.ts"

/** The market at a glance. */
export const Home = () => {
  useTitle("Market")
  return <h1>Market</h1>
}
