/**
 * Properties are tried with the same inputs in every run of CI, so that a run says something about the change that it is
 * for. Everywhere else the inputs are new each time, and fast-check says the seed of what fails.
 */
import fc from 'fast-check'

if (process.env['CI']) fc.configureGlobal({ seed: 20_261_121 })
