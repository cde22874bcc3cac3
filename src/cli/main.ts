#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { tuneForOnePass } from './one-pass.ts'

// Compiled code is kept between runs: what a command imports then costs a quarter (the first line of output is to come
// within 300 ms). It must be switched on before anything of ours is imported.
enableCompileCache()
tuneForOnePass(process.argv[2])

// A reader that goes away (`quorate plan | head`) is no fault of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})
process.stderr.on('error', () => {})

const { main } = await import('./run.ts')
await main(process.argv.slice(2))
