import { useTitle } from "../parts/useTitle.ts"

/** Every source: state, lag and gaps. */
export const Status = () => {
  useTitle("Status")
  return <h1>Status</h1>
}
