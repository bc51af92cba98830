/** Entry of the pages. */
import { render } from "preact"
import { App } from "./App.tsx"
import "./style/base.css"
import "./style/parts.css"
import "./style/forms.css"

const root = document.querySelector("#app")
if (root !== null) {
  render(<App />, root)
}
