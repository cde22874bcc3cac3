/** The failure converter of the bundle of workflows, in a file as the bundler wants it. */
export { failureConverter } from './sealed.ts'
