/**
 * For the health check of a container: exits with 0 where the address answers 200, else with 1 and what was there instead.
 * `node check-health.js URL`; `NODE_EXTRA_CA_CERTS` names an authority of one's own.
 */
const WAIT_MS = 4_000

const [url] = process.argv.slice(2)
if (url === undefined) {
  process.stderr.write('expected the address to ask\n')
  process.exit(1)
}
const found = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(WAIT_MS) }).then(
  async (answer) => (answer.status === 200 ? undefined : `${answer.status} ${await answer.text()}`),
  (error: Error) => `${error.message}: ${error.cause instanceof Error ? error.cause.message : 'no answer'}`,
)
if (found !== undefined) {
  process.stderr.write(`${found}\n`)
  process.exit(1)
}
