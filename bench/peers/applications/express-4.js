// As the README of Express 4 shows it.
import express from 'express-4';

const app = express();
app.get('/', (request, response) => response.send('Hello World'));
app.listen(process.env.PORT);
