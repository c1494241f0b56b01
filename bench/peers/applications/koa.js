// As the README of Koa shows it.
import Koa from 'koa';

const app = new Koa();
app.use((context) => (context.body = 'Hello Koa'));
app.listen(process.env.PORT);
