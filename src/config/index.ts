/**
 * Config: environment and flags become one typed settings object. No other room reads the process's environment.
 */
export { configCodes } from './codes.ts'
export { environmentOfBackground, takeEnvironment, withoutSecrets } from './environment.ts'
export { type SettingFlags, settingRows } from './setting-rows.ts'
export {
  DATA_DIR,
  KEY_VARIABLE,
  type KeptKey,
  PLAN_STORE_VARIABLE,
  readSettings,
  type Settings,
  type SigningKey,
} from './settings.ts'
export { asksForTraces, startVariables } from './start-variables.ts'
