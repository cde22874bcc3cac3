#!/usr/bin/env node
import { oldNode } from './old-node.ts'

// Nothing else is imported before it: an older Node.js would end with a fault of syntax, or of a module that it has not.
const refusal = oldNode(process.versions.node)
if (refusal !== undefined) {
  process.stderr.write(refusal)
  process.exitCode = 1
} else {
  const { start } = await import('./start.ts')
  await start(process.argv.slice(2))
}
