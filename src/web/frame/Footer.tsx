/** The links below every page. The licence of the chart library asks for the one to TradingView. */
export const Footer = () => (
  <footer class="end">
    <a href="/docs">Reference</a>
    <a href="/openapi.json" target="_top">
      OpenAPI
    </a>
    <a href="/changelog">Changes</a>
    <a href="/status">Status</a>
    <a href="https://www.tradingview.com/" rel="noreferrer">
      Charts by TradingView
    </a>
  </footer>
)
