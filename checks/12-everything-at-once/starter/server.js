// #region server
import { createApp } from './app.js';

const port = process.env.PORT ?? 8080;

createApp().listen(port, (error) => {
  if (error) throw error;
  console.log(`process ${process.pid} serves on http://127.0.0.1:${port}`);
});
// #endregion server
